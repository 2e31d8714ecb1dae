/* Extensions whose functions, operators, casts and types count as built in: they compute and do nothing else. Functions
 * must stand on the gate's list all the same. For postgres_check.c and `assay doctor`. */
#ifndef ASSAY_LIB_DB_POSTGRES_TRUSTED_H
#define ASSAY_LIB_DB_POSTGRES_TRUSTED_H

#define POSTGRES_TRUSTED_EXTENSIONS                                                                                    \
    "'{btree_gin,btree_gist,citext,cube,earthdistance,fuzzystrmatch,hstore,intarray,isn,ltree,pg_trgm,postgis,seg,"    \
    "unaccent,uuid-ossp,vector}'::pg_catalog.name[]"

#endif
