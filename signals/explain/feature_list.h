/* Features of a candidate for the verifier: X(wire id, name, GROUP). Ids are in stored messages: only ever appended,
 * never used again; model files go by name. The components of lib/sql/components.h follow with ids from
 * VERIFIER_COMPONENT_ID on. No include guard: include it with X defined. */
X(1, n_tokens, SHAPE)
X(2, n_refs, SHAPE)
