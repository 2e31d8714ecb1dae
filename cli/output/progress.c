#include "cli/output/progress.h"
#include "lib/base/clock.h"

#include <stdio.h>
#include <string.h>

enum { REDRAW_NS = 100000000 };

void progress_start(struct progress *progress)
{
    memset(progress, 0, sizeof *progress);
    progress->started_ns = clock_now_ns();
}

void progress_count(struct progress *progress, const struct msg_verdict *verdict)
{
    progress->verdicts++;
    progress->candidates += verdict->n_candidates;
    progress->by_status[verdict->status]++;
    latency_add(&progress->latency, clock_ms(verdict->total_ns));
}

static double seconds(const struct progress *progress)
{
    return (double)(clock_now_ns() - progress->started_ns) / 1e9;
}

static void print_mix(const struct progress *progress)
{
    for (int i = 0; i < MSG_STATUS_COUNT; i++)
        if (progress->by_status[i])
            fprintf(stderr, " %s %llu", msg_status_name((enum msg_status)i),
                    (unsigned long long)progress->by_status[i]);
}

void progress_draw(struct progress *progress, double share)
{
    int64_t now = clock_now_ns();
    if (now - progress->drawn_ns < REDRAW_NS) return;
    progress->drawn_ns = now;
    progress->shown = true;
    double passed = seconds(progress);
    fprintf(stderr, "\r\033[K%llu verdicts, %.0f/s", (unsigned long long)progress->verdicts,
            passed > 0 ? (double)progress->verdicts / passed : 0);
    if (share > 0.001) {
        double left = passed * (1 - share) / share;
        fprintf(stderr, ", %.0f %%, %d:%02d left", 100 * share, (int)(left / 60), (int)left % 60);
    }
    fputc(':', stderr);
    print_mix(progress);
    fflush(stderr);
}

void progress_clear(struct progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}

void progress_summary(struct progress *progress, bool interrupted)
{
    double passed = seconds(progress);
    progress_clear(progress);
    fprintf(stderr, "%s%llu verdicts on %llu candidates in %.2f s (%.0f candidates/s)",
            interrupted ? "interrupted: " : "", (unsigned long long)progress->verdicts,
            (unsigned long long)progress->candidates, passed, passed > 0 ? (double)progress->candidates / passed : 0);
    if (progress->bad_lines) fprintf(stderr, ", %llu bad lines skipped", (unsigned long long)progress->bad_lines);
    fputs("\nverdicts:", stderr);
    print_mix(progress);
    const struct latency *l = &progress->latency;
    fprintf(stderr, "\nlatency: p50 %.2f ms, p95 %.2f ms, p99 %.2f ms, max %.2f ms\n", latency_quantile(l, 0.5),
            latency_quantile(l, 0.95), latency_quantile(l, 0.99), l->max_ms);
}
