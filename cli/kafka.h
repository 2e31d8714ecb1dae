/* The kafka section of the settings as a bus. */
#ifndef ASSAY_CLI_KAFKA_H
#define ASSAY_CLI_KAFKA_H

#include "cli/cli.h"
#include "proto/bus/transport.h"

/* Put servers, properties (a value file:PATH read from that file, without its last line end) and the wait into
 * `config`; everything lives in the cli's arena. */
enum err_code kafka_config(struct cli *cli, struct bus_config *config, struct err *err);

#endif
