/* Loads a plug-in that throws and catches; knows nothing of C++ itself. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    void *handle = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    int (*function)(int);

    if (handle == NULL) {
        puts(dlerror());
        return 1;
    }
    *(void **)&function = dlsym(handle, "plugin");
    printf("%d\n", function(2));
    return 0;
}
