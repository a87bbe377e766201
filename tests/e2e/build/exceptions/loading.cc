// An exception thrown by a thread while another thread loads a plug-in, and waits for it in a
// constructor; and the dynamic linker's own error, read after an exception.
// Built twice: as the plug-in (PLUGIN) and as the program.
#include <cstdio>
#include <dlfcn.h>
#include <stdexcept>
#include <thread>

#ifdef PLUGIN
static int catcher(int n)
{
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception &) {
        return n;
    }
}

static struct Loaded {
    Loaded()
    {
        std::thread thread([] { std::printf("caught %d\n", catcher(3)); });
        thread.join();
    }
} loaded;
#else
static void *load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW);

    if (handle == nullptr)
        throw std::runtime_error("not loaded");
    return handle;
}

int main()
{
    try {
        load("./no-such-library.so");
    } catch (const std::exception &) {
        std::printf("dlerror: %s\n", dlerror());
    }
    std::printf("%s\n", load("./loading.so") != nullptr ? "loaded" : "");
}
#endif
