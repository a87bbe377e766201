/* usage: host PLUGIN ROUNDS: loads, calls and unloads a plug-in, again and again. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 1;

    for (int i = 0; i < rounds; i++) {
        void *handle = dlopen(argv[1], RTLD_NOW);
        int (*work)(int);

        if (handle == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        *(void **)&work = dlsym(handle, "plugin_work");
        if (work(100) != 100)
            return 1;
        dlclose(handle);
    }
    return 0;
}
