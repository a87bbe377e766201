/* The program: prints one line and ends with status 0 if all is well. */
#include <dlfcn.h>
#include <stdio.h>

#include "config.h"
#include "greet.h"

static int app_work(int n)
{
    int sum = 0;
    int i;

    for (i = 0; i < n; i++)
        sum = greet_add(sum, i);
    return sum;
}

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    plug_function *plug = plugin ? (plug_function *)dlsym(plugin, "plug_mul") : NULL;
    int total = app_work(4) + (plug ? plug(2) + plug(7) : 0);

    if (argc > 1 && !plug) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    printf("total %d have %d%d\n", total, HAVE_STRLCPY_ANYWHERE, HAVE_GETPPID);
    return 0;
}
