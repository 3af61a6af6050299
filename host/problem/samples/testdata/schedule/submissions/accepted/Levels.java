import java.io.IOException;
import java.io.StreamTokenizer;

public class Levels {
    static final StreamTokenizer IN = new StreamTokenizer(new java.io.BufferedInputStream(System.in));

    static int next() throws IOException {
        IN.nextToken();
        return (int) IN.nval;
    }

    public static void main(String[] args) throws IOException {
        int n = next();
        int m = next();
        int[] head = new int[n + 1];
        int[] link = new int[m + 1];
        int[] target = new int[m + 1];
        int[] waits = new int[n + 1];
        for (int i = 1; i <= m; i++) {
            int a = next();
            target[i] = next();
            link[i] = head[a];
            head[a] = i;
            waits[target[i]]++;
        }
        int[] order = new int[n];
        int filled = 0;
        for (int job = 1; job <= n; job++) {
            if (waits[job] == 0) {
                order[filled++] = job;
            }
        }
        for (int i = 0; i < filled; i++) {
            for (int e = head[order[i]]; e != 0; e = link[e]) {
                if (--waits[target[e]] == 0) {
                    order[filled++] = target[e];
                }
            }
        }
        if (filled < n) {
            System.out.println("impossible");
            return;
        }
        StringBuilder out = new StringBuilder();
        for (int job : order) {
            out.append(job).append('\n');
        }
        System.out.print(out);
    }
}
