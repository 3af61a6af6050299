import java.io.BufferedInputStream;
import java.io.IOException;

/** Keeps its own stack: half a million calls deep, the virtual machine is slow. */
public class Stack {
    static final long MODULUS = 1_000_000_007;

    public static void main(String[] args) throws IOException {
        byte[] text = new BufferedInputStream(System.in).readAllBytes();
        long[] total = new long[text.length + 1];
        long[] place = new long[text.length + 1];
        int depth = 0;
        for (byte c : text) {
            if (c == '(') {
                depth++;
                total[depth] = 1;
                place[depth] = 0;
            } else if (c == ')') {
                long box = total[depth--];
                place[depth]++;
                total[depth] = (total[depth] + place[depth] * box) % MODULUS;
            }
        }
        System.out.println(total[0]);
    }
}
