// @EXPECTED_RESULTS@: MEMORY-LIMIT
import java.util.ArrayList;
import java.util.List;

public class Hoard {
    public static void main(String[] args) {
        List<byte[]> all = new ArrayList<>();
        while (true) {
            all.add(new byte[1 << 20]);
        }
    }
}
