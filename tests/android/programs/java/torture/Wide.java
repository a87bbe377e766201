package torture;

/** long and double in every place of an argument list. */
public class Wide {
    static long a(long a) {
        return a ^ -1;
    }

    static double b(int a, double b, long c, float d) {
        return a + b + c + d;
    }

    long c(byte a, long b, char c, double d, short e, long f, boolean g, double h, Object i, long j) {
        long x = a + b + c + (long) d + e + f + (g ? 1 : 0) + (long) h + j;
        return i == null ? x : -x;
    }

    static long locals(long p, double q) {
        long a = p + 1, b = a * 3, c = b ^ p, d = c - a, e = d * d, f = e >>> 3, g = f + b, h = g % 1000003;
        double r = q / 3, s = r * a, t = s - b, u = t + 0.125, v = u * u;
        int i = (int) h, j = i << 3, k = j ^ 0x55, l = k - i;
        return a + b + c + d + e + f + g + h + (long) (r + s + t + u + v) + i + j + k + l;
    }

    static long pack(int a, int b) {
        return (long) a << 32 | b & 0xffffffffL;
    }

    static double fold(double... values) {
        double x = 0;
        for (double v : values)
            x = x * 1.5 + v;
        return x;
    }

    static long caught(long a, long b) {
        long c = a;
        try {
            c = a / b;
            return c + pack(1, 2);
        } catch (ArithmeticException e) {
            return a - c;
        }
    }

    public static void main(String[] args) {
        System.out.println(a(Long.MIN_VALUE) + " " + a(5));
        System.out.println(b(1, 2.5, 1L << 40, 0.25f));
        System.out.println(new Wide().c((byte) -1, 1L << 50, 'x', 1e10, (short) -7, -3, true, 2.9, null, 77));
        System.out.println(new Wide().c((byte) -1, 1L << 50, 'x', 1e10, (short) -7, -3, false, 2.9, "", 77));
        System.out.println(locals(123456789012L, 2.75));
        System.out.println(pack(-1, -2) + " " + pack(7, 9));
        System.out.println(fold() + " " + fold(1) + " " + fold(1, 2, 3.5));
        System.out.println(caught(10, 3) + " " + caught(10, 0));
    }
}
