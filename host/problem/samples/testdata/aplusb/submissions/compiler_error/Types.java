// @EXPECTED_RESULTS@: COMPILER-ERROR
public class Types {
    public static void main(String[] args) {
        int sum = "a + b";
        System.out.println(sum);
    }
}
