import java.io.DataInputStream;
import java.io.IOException;
import java.util.Arrays;

public class Sort {
    static final byte[] BUFFER = new byte[1 << 16];
    static int at;
    static int end;

    static int read() throws IOException {
        if (at == end) {
            end = System.in.read(BUFFER);
            at = 0;
            if (end <= 0) {
                return -1;
            }
        }
        return BUFFER[at++];
    }

    static int number() throws IOException {
        int c = read();
        while (c < '0') {
            c = read();
        }
        int n = 0;
        for (; c >= '0'; c = read()) {
            n = 10 * n + c - '0';
        }
        return n;
    }

    public static void main(String[] args) throws IOException {
        int[] notes = new int[number()];
        for (int i = 0; i < notes.length; i++) {
            notes[i] = number();
        }
        Arrays.sort(notes);
        int best = 0;
        int most = 0;
        int first = 0;
        for (int i = 0; i < notes.length; i++) {
            if (notes[i] != notes[first]) {
                first = i;
            }
            if (i - first + 1 > most) {
                most = i - first + 1;
                best = notes[i];
            }
        }
        System.out.println(best + " " + most);
    }
}
