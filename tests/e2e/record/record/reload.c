/* reload LIBRARY_A LIBRARY_B - loads and unloads two libraries by turns; the second finds the
 * addresses of the first free. Prints how often both were at the same place. */
#include <dlfcn.h>
#include <stdio.h>

enum { TURNS = 10 };

int main(int argc, char **argv)
{
    void *last = NULL;
    int i, same = 0;

    for (i = 0; argc > 2 && i < 2 * TURNS; i++) {
        void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
        void *symbol =
            library != NULL ? dlsym(library, i % 2 == 0 ? "only_in_a" : "only_in_b") : NULL;

        if (symbol == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        ((void (*)(int))symbol)(i / 2 + 1);
        same += symbol == last;
        last = symbol;
        dlclose(library);
    }
    printf("%d\n", same);
    return 0;
}
