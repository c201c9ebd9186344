"""What a statement over the catalogue may be made of: kinds of nodes of sqlglot's tree, functions, and tables.

A function is here if it tells of the catalogue or computes a small value.  Functions that wait, lock, write, read
files, run SQL from text, build texts of any length, or tell of other databases or connections are not.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODES = _words(
    """
    Select From Join Where Group Having Order Ordered Limit Offset Fetch Subquery Union Intersect Except Values
    Tuple With CTE Table TableAlias Column ColumnDef Identifier Star Literal Boolean Null Parameter Placeholder
    Alias Aliases Paren Not Neg Add Sub Mul Div Mod DPipe EQ NEQ GT GTE LT LTE Is In Between Like ILike SimilarTo
    RegexpLike RegexpILike NullSafeEQ NullSafeNEQ Operator Distinct DataType DataTypeParam PseudoType
    ObjectIdentifier Bracket Dot Lateral Unnest Any All Interval Var IntervalSpan Window WindowSpec Filter
    WithinGroup BitwiseAnd ArrayContainsAll ArrayOverlaps ArrayContainedBy Escape LikeAny ILikeAny Slice
    """
)
# Functions for which the parser has a node of its own, by the name of that.
PARSED_FUNCTIONS = _words(
    """
    abs and array array_agg array_concat array_contained_by array_contains_all array_overlaps array_length
    array_position array_size array_to_string avg cardinality case cast ceil coalesce collate concat concat_ws count
    current_catalog current_database current_date current_schema current_schemas current_time current_timestamp
    current_user current_version date_part date_trunc dense_rank exists explode exploding_generate_series extract
    floor generate_series greatest group_concat if least left length localtime localtimestamp logical_and logical_or
    lower max min nullif or rank regexp_i_like regexp_like regexp_replace replace right round row_number
    session_user split_part str_position string_agg substr substring sum timestamp_trunc to_char trim unnest upper
    version xor
    """
)
FUNCTIONS = _words(
    """
    _pg_char_max_length _pg_char_octet_length _pg_datetime_precision _pg_expandarray _pg_index_position
    _pg_numeric_precision _pg_numeric_precision_radix _pg_numeric_scale _pg_truetypid _pg_truetypmod acldefault
    aclexplode age array_append array_cat array_length array_lower array_ndims array_position array_remove
    array_to_string array_upper bool_and bool_or btrim cardinality char_length character_length col_description
    current_catalog current_database current_role current_schema current_schemas current_setting current_user every
    format_type generate_subscripts getdatabaseencoding has_any_column_privilege has_column_privilege
    has_function_privilege has_schema_privilege has_sequence_privilege has_table_privilege has_type_privilege
    inet_client_addr inet_server_addr inet_server_port json_agg json_build_array json_build_object json_object_agg
    jsonb_agg jsonb_build_array jsonb_build_object ltrim mod now obj_description oidvectortypes
    pg_advisory_unlock_all pg_backend_pid pg_char_to_encoding pg_client_encoding pg_collation_is_visible
    pg_column_is_updatable pg_conversion_is_visible pg_encoding_to_char pg_function_is_visible pg_get_constraintdef
    pg_get_expr pg_get_function_arg_default pg_get_function_arguments pg_get_function_identity_arguments
    pg_get_function_result pg_get_function_sqlbody pg_get_functiondef pg_get_indexdef pg_get_keywords
    pg_get_partition_constraintdef pg_get_partkeydef pg_get_ruledef pg_get_serial_sequence pg_get_statisticsobjdef
    pg_get_statisticsobjdef_columns pg_get_triggerdef pg_get_userbyid pg_get_viewdef pg_index_column_has_property
    pg_indexes_size pg_is_in_recovery pg_is_other_temp_schema pg_my_temp_schema pg_opclass_is_visible
    pg_operator_is_visible pg_opfamily_is_visible pg_partition_ancestors pg_postmaster_start_time
    pg_relation_is_publishable pg_relation_is_updatable pg_relation_size pg_size_pretty pg_statistics_obj_is_visible
    pg_table_is_visible pg_table_size pg_tablespace_location pg_total_relation_size pg_ts_config_is_visible
    pg_ts_dict_is_visible pg_type_is_visible pg_typeof position quote_ident quote_literal regexp_match
    regexp_matches row row_to_json rtrim session_user set_config shobj_description strpos to_json to_jsonb
    to_regclass to_regnamespace to_regproc to_regprocedure to_regrole to_regtype translate user version
    """
)
# Of pg_catalog; of information_schema, all are.
TABLES = _words(
    """
    pg_aggregate pg_am pg_amop pg_amproc pg_attrdef pg_attribute pg_auth_members pg_available_extensions pg_cast
    pg_class pg_collation pg_constraint pg_conversion pg_database pg_db_role_setting pg_default_acl pg_depend
    pg_description pg_enum pg_event_trigger pg_extension pg_foreign_data_wrapper pg_foreign_server pg_foreign_table
    pg_group pg_index pg_indexes pg_inherits pg_init_privs pg_language pg_matviews pg_namespace pg_opclass
    pg_operator pg_opfamily pg_partitioned_table pg_policies pg_policy pg_proc pg_publication
    pg_publication_namespace pg_publication_rel pg_publication_tables pg_range pg_rewrite pg_roles pg_rules
    pg_seclabel pg_seclabels pg_sequence pg_sequences pg_settings pg_shdescription pg_statistic_ext pg_stats
    pg_tables pg_tablespace pg_timezone_abbrevs pg_timezone_names pg_transform pg_trigger pg_ts_config
    pg_ts_config_map pg_ts_dict pg_ts_parser pg_ts_template pg_type pg_user pg_user_mappings pg_views
    """
)

# PostgreSQL reads x.f and (x).f as f(x) where x has no column f.  So fields of composite values are listed, and no
# column may have the name of a function that waits, locks, runs SQL from text, or tells of other databases or people.
FIELDS = _words("n x keys")
HARMFUL = (
    "ts_stat|ts_rewrite|pg_(terminate|cancel)_backend|pg_sleep.*|pg_(try_)?advisory_(lock|xact).*|pg_stat_.*|pg_.*_size|"
    "pg_tablespace_databases|pg_.*filepath|pg_.*filenode.*|pg_read_.*|pg_ls_.*|lo_.*|.*_to_xml.*|pg_(reload|rotate|switch).*|"
    "pg_notify|pg_log.*|pg_current_.*|pg_export_snapshot|pg_blocking_pids|pg_safe_snapshot.*|pg_promote|pg_create_.*|"
    "pg_drop_.*|pg_replication_.*|pg_logical_.*|pg_backup_.*|pg_hba_.*|pg_show_all_.*|pg_file_.*"
)
