import dalvik.system.DexFile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Verify APK: loads, verifies and initialises every class of an APK that is on the class path; a line for each, "ok NAME" or
 * "EXCEPTION NAME: why".
 *
 * In the order of their names: what one finds initialised is the same before and after rewriting.
 */
public class Verify {
    public static void main(String[] args) throws Exception {
        ClassLoader loader = Verify.class.getClassLoader();
        List<String> names = new ArrayList<>(Collections.list(new DexFile(args[0]).entries()));
        Collections.sort(names);
        StringBuilder out = new StringBuilder();
        for (String name : names) {
            try {
                Class.forName(name, true, loader);
                out.append("ok ").append(name).append('\n');
            } catch (Throwable t) {
                Throwable why = t instanceof ExceptionInInitializerError && t.getCause() != null ? t.getCause() : t;
                String message = String.valueOf(why.getMessage()).replace('\n', ' ');
                out.append(why.getClass().getName()).append(' ').append(name).append(": ").append(message).append('\n');
            }
        }
        System.out.print(out);
        System.out.flush();
        // Threads that classes started may go on for ever.
        Runtime.getRuntime().halt(0);
    }
}
