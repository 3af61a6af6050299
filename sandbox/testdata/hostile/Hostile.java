// What hostile programs do in Java. Usage: Hostile WAY
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public class Hostile {
    static volatile Object sink;

    static int recursion(int n) {
        return recursion(n + 1) + 1;
    }

    static void spin() {
        for (;;) {
        }
    }

    static void connect(String host, int port) {
        try (Socket s = new Socket()) {
            s.connect(new InetSocketAddress(host, port), 2000);
            System.out.println("worked");
        } catch (Exception e) {
            System.out.println("failed");
        }
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "threads":
                for (;;) { // until there may be no more, which is an error
                    Thread t = new Thread(() -> {
                        try {
                            Thread.sleep(Long.MAX_VALUE);
                        } catch (InterruptedException e) {
                            return;
                        }
                    });
                    t.setDaemon(true);
                    t.start();
                }
            case "heap": {
                List<byte[]> kept = new ArrayList<>();
                for (;;) {
                    byte[] b = new byte[1 << 20];
                    Arrays.fill(b, (byte) 1);
                    kept.add(b);
                }
            }
            case "direct": {
                List<ByteBuffer> kept = new ArrayList<>();
                for (;;) {
                    ByteBuffer b = ByteBuffer.allocateDirect(1 << 20);
                    while (b.hasRemaining()) b.put((byte) 1);
                    kept.add(b);
                }
            }
            case "recursion":
                recursion(0);
                break;
            case "spin":
                for (int i = 0; i < 4; i++) new Thread(Hostile::spin).start();
                break;
            case "collect": // garbage without end, for the collector's threads
                for (int i = 0; i < 2; i++)
                    new Thread(() -> {
                        for (List<Object> l = new ArrayList<>();; l.add(new byte[64]))
                            if (l.size() > 100_000) sink = l = new ArrayList<>();
                    }).start();
                break;
            case "processes":
                for (;;) {
                    try {
                        new ProcessBuilder("/bin/sleep", "1000").start();
                    } catch (Throwable e) { // no process, or no thread to wait for it
                        sink = e;
                    }
                }
            case "sockets":
                connect("127.0.0.1", 22);
                connect("192.0.2.1", 80);
                connect("example.org", 80);
                break;
            default:
                System.exit(9);
        }
    }
}
