"""A LlamaIndex query engine around one that writes SQL: it is asked several times, its queries are judged, and only one
that holds is run.

    writer = NLSQLTableQueryEngine(sql_database, llm=llm, sql_only=True, synthesize_response=False)
    JudgedQueryEngine(writer=writer, sql_database=sql_database, judge=judge, db="shop").query("How many orders are
    open?")

The writer's language model needs a temperature above 0, or it says the same each time."""

from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine

from assay import request


class JudgedQueryEngine(CustomQueryEngine):
    writer: Any
    sql_database: Any
    judge: Any  # assay.Judge
    db: str
    samples: int = 3

    def custom_query(self, query_str: str) -> Response:
        candidates = [self.writer.query(query_str).metadata["sql_query"] for _ in range(self.samples)]
        verdict = self.judge.judge(request(query_str, self.db, candidates, order="sampled", policy="ask"))
        metadata = {"verdict": verdict, "sql_query": verdict.sql}
        if verdict.validated:
            rows, found = self.sql_database.run_sql(verdict.sql)
            return Response(rows, metadata={**metadata, "result": found["result"]})
        if verdict.clarification:
            return Response(verdict.clarification.question, metadata=metadata)
        return Response("I am not sure enough to answer that.", metadata=metadata)
