/* Extensions whose functions, operators, casts and types are treated like built-in ones, because they have no side
 * effects. Statements may call their functions only if these are on the gate's allow list. Used by postgres_check.c and
 * `assay doctor`. */
#ifndef ASSAY_LIB_DB_POSTGRES_TRUSTED_H
#define ASSAY_LIB_DB_POSTGRES_TRUSTED_H

#define POSTGRES_TRUSTED_EXTENSIONS                                                                                    \
    "'{btree_gin,btree_gist,citext,cube,earthdistance,fuzzystrmatch,hstore,intarray,isn,ltree,pg_trgm,postgis,seg,"    \
    "unaccent,uuid-ossp,vector}'::pg_catalog.name[]"

#endif
