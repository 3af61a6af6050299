import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.StreamTokenizer;
import java.util.HashMap;
import java.util.Map;

public class Rests {
    public static void main(String[] args) throws IOException {
        StreamTokenizer in = new StreamTokenizer(new BufferedInputStream(System.in));
        in.nextToken();
        int n = (int) in.nval;
        in.nextToken();
        int k = (int) in.nval;
        Map<Integer, Integer> seen = new HashMap<>();
        long pairs = 0;
        for (int i = 0; i < n; i++) {
            in.nextToken();
            int rest = (int) in.nval % k;
            pairs += seen.getOrDefault((k - rest) % k, 0);
            seen.merge(rest, 1, Integer::sum);
        }
        System.out.println(pairs);
    }
}
