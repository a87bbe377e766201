import java.io.FileOutputStream;
import java.util.Enumeration;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/** Relocate IN.jar OUT.jar: ICU under the name that Android's core library knows it by, android.icu. */
public class Relocate {
    private static final String FROM = "com/ibm/icu/";
    private static final String TO = "android/icu/";

    private static String path(String name) {
        return name.startsWith(FROM) ? TO + name.substring(FROM.length()) : name;
    }

    /** Strings, too: some are names of resources and classes. */
    private static String text(String value) {
        String dots = FROM.replace('/', '.');
        return value.startsWith(dots) ? TO.replace('/', '.') + value.substring(dots.length()) : path(value);
    }

    private static class Names extends Remapper {
        @Override
        public String map(String name) {
            return path(name);
        }

        @Override
        public Object mapValue(Object value) {
            return value instanceof String ? text((String) value) : super.mapValue(value);
        }
    }

    public static void main(String[] args) throws Exception {
        try (ZipFile in = new ZipFile(args[0]); ZipOutputStream out = new ZipOutputStream(new FileOutputStream(args[1]))) {
            for (Enumeration<? extends ZipEntry> e = in.entries(); e.hasMoreElements();) {
                ZipEntry entry = e.nextElement();
                if (entry.isDirectory() || entry.getName().startsWith("META-INF"))
                    continue;
                byte[] bytes = in.getInputStream(entry).readAllBytes();
                if (entry.getName().endsWith(".class")) {
                    ClassWriter writer = new ClassWriter(0);
                    new ClassReader(bytes).accept(new ClassRemapper(writer, new Names()), 0);
                    bytes = writer.toByteArray();
                }
                out.putNextEntry(new ZipEntry(path(entry.getName())));
                out.write(bytes);
                out.closeEntry();
            }
        }
    }
}
