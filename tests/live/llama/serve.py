#!/usr/bin/env python3
"""llama.cpp's HTTP server on the loopback address, with a model that this program creates.

  serve.py chat PORT FILE          answers chat completions; the key is $ASSAY_TEST_CHAT_KEY
  serve.py embeddings PORT FILE    answers /v1/embeddings; no key

FILE is the path of the created model. The program runs until it is killed.
"""
import os
import signal
import sys

import xllamacpp

import model

# The answers to requests for an object with these members: a verifier, a corrector, a polisher.
VERDICT, REST = '{"verdict":"', '","confidence":0.75}'
SQL = '{"sql":"SELECT count(*) FROM customer WHERE country = \'France\'"}'
PROSE = ('{"text":"There are 2 customers whose country is \'France\'. That is the only row, '
         'computed from 2 source rows."}')
OPENINGS = {VERDICT: 40.0, SQL: 40.0, PROSE: 40.0}
FOLLOWS = {
    (VERDICT, "yes"): 22.0,  # P(yes) = 1 / (1 + 1/e)
    (VERDICT, "no"): 21.0,
    ("yes", REST): 40.0,
    ("no", REST): 40.0,
    (REST, model.END): 40.0,
    (SQL, model.END): 40.0,
    (PROSE, model.END): 40.0,
}


def main():
    what, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    model.write(path, OPENINGS, FOLLOWS)
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {"tiny"}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 1 << 15
    params.cpuparams.n_threads = 1  # more threads would spin and wait for each other
    params.cpuparams_batch.n_threads = 1
    params.ui = False
    if what == "embeddings":
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    else:
        params.api_keys = [os.environ["ASSAY_TEST_CHAT_KEY"]]
    server = xllamacpp.Server(params)
    print("listening on", server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
