package dalvik.system;

import java.io.IOException;
import java.util.Enumeration;

/** What the helpers use of ART's own class, to compile against. */
public class DexFile {
    public DexFile(String file) throws IOException {
        throw new IOException(file);
    }

    public native Enumeration<String> entries();
}
