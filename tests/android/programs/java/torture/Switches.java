package torture;

/** Switches and arrays, whose tables lie behind the code. */
public class Switches {
    static int packed(int n) {
        switch (n) {
        case -1:
            return 10;
        case 0:
            return 11;
        case 1:
        case 2:
            return 12 + leaf(n);
        case 3:
            break;
        case 5:
            throw new IllegalArgumentException("five");
        default:
            return -1;
        }
        return 13;
    }

    static String sparse(int n) {
        String s = "";
        switch (n) {
        case Integer.MIN_VALUE:
            s += "min ";
        case -70000:
            s += "low ";
            break;
        case 0:
            return "zero";
        case 1 << 20:
            s += "high ";
        case Integer.MAX_VALUE:
            s += "max";
        }
        return s;
    }

    static int leaf(int n) {
        return n & 1;
    }

    static int text(String s) {
        switch (s) {
        case "Aa":
            return 1;
        case "BB":
            return 2;
        case "":
            return 3;
        default:
            return 4;
        }
    }

    enum Day { MONDAY, TUESDAY, SUNDAY }

    static int day(Day d) {
        switch (d) {
        case MONDAY:
            return 1;
        case SUNDAY:
            return 7;
        default:
            return 0;
        }
    }

    static long arrays() {
        byte[] b = {1, -2, 3};
        short[] s = {-1, 2, -3, 4, 5};
        char[] c = {'a', 'b', 'c'};
        int[] i = {1 << 30, 2, 3, 4, 5, 6, 7};
        long[] l = {1L << 60, -1, 5};
        float[] f = {0.5f, 1e10f, 3};
        double[] d = {1e100, 2, 0.25};
        boolean[] z = {true, false, true};
        int[][] n = {{1}, {2, 3}, {}};
        String[] t = {"x", "y"};
        return b[1] + s[4] + c[2] + i[0] + l[0] + (long) f[1] + (long) d[2] + (z[2] ? 1 : 0) + n[1][1] + t.length;
    }

    static int both(int n) {
        int sum = 0;
        for (int k = 0; k < n; k++) {
            int[] row = {k, k + 1, 3, 4, 5, 6};
            switch (row[k % 6]) {
            case 1:
                sum += 1;
                continue;
            case 3:
                try {
                    sum += packed(5);
                } catch (IllegalArgumentException e) {
                    sum += 300;
                }
                break;
            case 4:
                sum += packed(2);
                break;
            case 1000:
                return -1;
            }
            sum *= 2;
        }
        return sum;
    }

    public static void main(String[] args) {
        for (int n = -2; n < 7; n++) {
            try {
                System.out.println(packed(n));
            } catch (IllegalArgumentException e) {
                System.out.println(e.getMessage());
            }
        }
        for (int n : new int[] {Integer.MIN_VALUE, -70000, 0, 1, 1 << 20, Integer.MAX_VALUE})
            System.out.println(sparse(n));
        System.out.println(text("Aa") + text("BB") * 10 + text("") * 100 + text("C") * 1000);
        for (Day d : Day.values())
            System.out.println(day(d));
        System.out.println(arrays() + " " + both(20));
    }
}
