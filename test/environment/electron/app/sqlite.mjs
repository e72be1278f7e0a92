// node:sqlite's DatabaseSync, as far as Tutti uses it, for Electrons whose Node is too old for it: koffi and the system's libsqlite3.
import { createRequire } from 'node:module';
const koffi = createRequire(new URL(import.meta.url).searchParams.get('app'))('koffi');
const lib = koffi.load('libsqlite3.so.0');
const db_t = koffi.opaque('sqlite3'),
  stmt_t = koffi.opaque('sqlite3_stmt');
const f = {
  open: lib.func('int sqlite3_open_v2(const char *p, _Out_ sqlite3 **db, int flags, const char *vfs)'),
  close: lib.func('int sqlite3_close_v2(sqlite3 *db)'),
  timeout: lib.func('int sqlite3_busy_timeout(sqlite3 *db, int ms)'),
  errmsg: lib.func('const char *sqlite3_errmsg(sqlite3 *db)'),
  extcode: lib.func('int sqlite3_extended_errcode(sqlite3 *db)'),
  exec: lib.func('int sqlite3_exec(sqlite3 *db, const char *sql, void *cb, void *arg, void *err)'),
  prepare: lib.func('int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int n, _Out_ sqlite3_stmt **s, void *tail)'),
  step: lib.func('int sqlite3_step(sqlite3_stmt *s)'),
  finalize: lib.func('int sqlite3_finalize(sqlite3_stmt *s)'),
  bindCount: lib.func('int sqlite3_bind_parameter_count(sqlite3_stmt *s)'),
  bindName: lib.func('const char *sqlite3_bind_parameter_name(sqlite3_stmt *s, int i)'),
  bindNull: lib.func('int sqlite3_bind_null(sqlite3_stmt *s, int i)'),
  bindDouble: lib.func('int sqlite3_bind_double(sqlite3_stmt *s, int i, double v)'),
  bindInt: lib.func('int sqlite3_bind_int64(sqlite3_stmt *s, int i, int64_t v)'),
  bindText: lib.func('int sqlite3_bind_text(sqlite3_stmt *s, int i, const char *v, int n, intptr_t d)'),
  colCount: lib.func('int sqlite3_column_count(sqlite3_stmt *s)'),
  colName: lib.func('const char *sqlite3_column_name(sqlite3_stmt *s, int i)'),
  colType: lib.func('int sqlite3_column_type(sqlite3_stmt *s, int i)'),
  colInt: lib.func('int64_t sqlite3_column_int64(sqlite3_stmt *s, int i)'),
  colDouble: lib.func('double sqlite3_column_double(sqlite3_stmt *s, int i)'),
  colText: lib.func('const char *sqlite3_column_text(sqlite3_stmt *s, int i)'),
  changes: lib.func('int sqlite3_changes(sqlite3 *db)'),
};
class Statement {
  constructor(db, sql) {
    this.db = db;
    this.sql = sql;
  }
  #run(args) {
    const out = [null];
    this.db.check(f.prepare(this.db.h, this.sql, -1, out, null));
    const s = out[0];
    try {
      let named = null,
        rest = args;
      if (args.length && args[0] !== null && typeof args[0] === 'object') {
        named = args[0];
        rest = args.slice(1);
      }
      const n = f.bindCount(s);
      let k = 0;
      for (let i = 1; i <= n; i++) {
        const name = f.bindName(s, i);
        const v = name === null ? rest[k++] : (named[name] ?? named[name.slice(1)] ?? null);
        if (v === null || v === undefined) f.bindNull(s, i);
        else if (typeof v === 'number') Number.isInteger(v) ? f.bindInt(s, i, v) : f.bindDouble(s, i, v);
        else if (typeof v === 'bigint') f.bindInt(s, i, v);
        else f.bindText(s, i, String(v), -1, -1);
      }
      const rows = [];
      for (;;) {
        const rc = f.step(s);
        if (rc === 101) break;
        if (rc !== 100) this.db.check(rc);
        const row = Object.create(null);
        for (let c = 0; c < f.colCount(s); c++) {
          const t = f.colType(s, c);
          row[f.colName(s, c)] =
            t === 5 ? null : t === 1 ? Number(f.colInt(s, c)) : t === 2 ? f.colDouble(s, c) : f.colText(s, c);
        }
        rows.push(row);
      }
      return rows;
    } finally {
      f.finalize(s);
    }
  }
  setAllowUnknownNamedParameters() {}
  setReadBigInts() {}
  all(...a) {
    return this.#run(a);
  }
  get(...a) {
    return this.#run(a)[0];
  }
  run(...a) {
    this.#run(a);
    return { changes: f.changes(this.db.h), lastInsertRowid: 0 };
  }
}
export class DatabaseSync {
  constructor(path, { timeout = 0 } = {}) {
    const out = [null];
    const rc = f.open(path, out, 2 | 4, null);
    this.h = out[0];
    if (rc !== 0) {
      const e = this.error(rc);
      f.close(this.h);
      this.h = null;
      throw e;
    }
    f.timeout(this.h, timeout);
  }
  get isOpen() {
    return this.h !== null;
  }
  error(rc) {
    return Object.assign(new Error(f.errmsg(this.h)), { code: 'ERR_SQLITE_ERROR', errcode: f.extcode(this.h) || rc });
  }
  check(rc) {
    if (rc !== 0) throw this.error(rc);
  }
  exec(sql) {
    this.check(f.exec(this.h, sql, null, null, null));
  }
  prepare(sql) {
    return new Statement(this, sql);
  }
  close() {
    f.close(this.h);
    this.h = null;
  }
}
