/* reload.c - loads a plug-in, calls it and unloads it, again and again. usage: reload PLUGIN TIMES
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mappings without a file that hold code: what was made for chosen functions. */
static int generated(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int count = 0;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, " r-xp ") != NULL && strstr(line, " 00:00 0") != NULL &&
                 strchr(line, '[') == NULL;
    if (maps != NULL)
        fclose(maps);
    return count;
}

int main(int argc, char **argv)
{
    int times = argc == 3 ? atoi(argv[2]) : 0;
    long sum = 0;

    for (int i = 0; i < times; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW);
        long (*entry)(long);

        if (plugin == NULL)
            return 1;
        *(void **)&entry = dlsym(plugin, "entry");
        sum += entry(i);
        dlclose(plugin);
    }
    printf("%ld %s\n", sum, generated() <= 3 ? "few" : "many");
    return 0;
}
