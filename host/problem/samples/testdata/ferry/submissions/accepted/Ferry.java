import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.StringTokenizer;

public class Ferry {
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int n = Integer.parseInt(in.readLine().trim());
        StringBuilder out = new StringBuilder();
        while (n-- > 0) {
            StringTokenizer t = new StringTokenizer(in.readLine());
            double w = Double.parseDouble(t.nextToken());
            double v = Double.parseDouble(t.nextToken());
            double c = Double.parseDouble(t.nextToken());
            out.append(v <= c ? "impossible" : String.valueOf(w / Math.sqrt((v - c) * (v + c)))).append('\n');
        }
        System.out.print(out);
    }
}
