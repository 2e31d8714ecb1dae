/* Replays saved inputs through a fuzz target without libFuzzer. Each argument is a file or a folder. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return perror(path), 1;
    static uint8_t buffer[1U << 21];
    size_t size = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    uint8_t *exact = malloc(size ? size : 1); /* an exact copy, so that a sanitizer detects a read past the end */
    if (!exact) return 1;
    memcpy(exact, buffer, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

static int replay(const char *path, unsigned *count)
{
    struct stat info;
    if (stat(path, &info) != 0) return perror(path), 1;
    if (!S_ISDIR(info.st_mode)) return ++*count, replay_file(path);
    DIR *folder = opendir(path);
    if (!folder) return perror(path), 1;
    int failed = 0;
    for (struct dirent *entry; !failed && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed = replay(name, count);
    }
    closedir(folder);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    int failed = 0;
    for (int i = 1; i < argc && !failed; i++) failed = replay(argv[i], &count);
    printf("%u inputs replayed\n", count);
    return failed || count == 0;
}
