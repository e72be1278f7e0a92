/**
 * `node:sqlite` as far as Tutti uses it, for an Electron whose Node has none: the app's koffi and the system's libsqlite3.
 */
const { createRequire } = require('node:module');
const path = require('node:path');
const { app } = require('electron');

const koffi = createRequire(path.join(app.getAppPath(), 'main.js'))('koffi');
const library = koffi.load('libsqlite3.so.0');
koffi.opaque('sqlite3');
koffi.opaque('sqlite3_stmt');
const call = (declaration) => library.func(declaration);

const open = call('int sqlite3_open_v2(const char *path, _Out_ sqlite3 **db, int flags, const char *vfs)');
const close = call('int sqlite3_close_v2(sqlite3 *db)');
const busyTimeout = call('int sqlite3_busy_timeout(sqlite3 *db, int ms)');
const errorMessage = call('const char *sqlite3_errmsg(sqlite3 *db)');
const extendedCode = call('int sqlite3_extended_errcode(sqlite3 *db)');
const execute = call('int sqlite3_exec(sqlite3 *db, const char *sql, void *callback, void *argument, void *error)');
const prepare = call(
  'int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int bytes, _Out_ sqlite3_stmt **statement, void *tail)',
);
const step = call('int sqlite3_step(sqlite3_stmt *statement)');
const finalize = call('int sqlite3_finalize(sqlite3_stmt *statement)');
const changes = call('int sqlite3_changes(sqlite3 *db)');
const version = call('int sqlite3_libversion_number()');
const parameterCount = call('int sqlite3_bind_parameter_count(sqlite3_stmt *statement)');
const parameterName = call('const char *sqlite3_bind_parameter_name(sqlite3_stmt *statement, int index)');
const bindNull = call('int sqlite3_bind_null(sqlite3_stmt *statement, int index)');
const bindDouble = call('int sqlite3_bind_double(sqlite3_stmt *statement, int index, double value)');
const bindInteger = call('int sqlite3_bind_int64(sqlite3_stmt *statement, int index, int64_t value)');
const bindText = call(
  'int sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *value, int bytes, intptr_t destructor)',
);
const columnCount = call('int sqlite3_column_count(sqlite3_stmt *statement)');
const columnName = call('const char *sqlite3_column_name(sqlite3_stmt *statement, int index)');
const columnType = call('int sqlite3_column_type(sqlite3_stmt *statement, int index)');
const columnInteger = call('int64_t sqlite3_column_int64(sqlite3_stmt *statement, int index)');
const columnDouble = call('double sqlite3_column_double(sqlite3_stmt *statement, int index)');
const columnText = call('const char *sqlite3_column_text(sqlite3_stmt *statement, int index)');

/** SQLite before 3.45 has no binary JSON: there the index of runs keeps its fields as text, which reads the same. */
const lacksBinaryJson = version() < 3_045_000;
const adapted = (sql) =>
  lacksBinaryJson ? sql.replaceAll('jsonb(:fields)', 'json(:fields)').replace('fields BLOB', 'fields TEXT') : sql;

/** SQLite's numbers. */
const done = 101;
const row = 100;
const readWriteCreate = 2 | 4;
const copied = -1;
const readers = new Map([
  [1, columnInteger],
  [2, columnDouble],
  [3, columnText],
]);

function bind(statement, index, value) {
  if (value === null || value === undefined) return bindNull(statement, index);
  if (typeof value === 'bigint' || Number.isInteger(value)) return bindInteger(statement, index, value);
  if (typeof value === 'number') return bindDouble(statement, index, value);
  return bindText(statement, index, String(value), -1, copied);
}

/** Arguments by position, after an object of named ones if the first is one. */
function bindAll(statement, given) {
  const isNamed = typeof given[0] === 'object' && given[0] !== null;
  const named = isNamed ? given[0] : {};
  const positions = isNamed ? given.slice(1) : given;
  for (let index = 1, next = 0; index <= parameterCount(statement); index++) {
    const name = parameterName(statement, index);
    bind(statement, index, name === null ? positions[next++] : (named[name] ?? named[name.slice(1)]));
  }
}

function readRow(statement) {
  const values = Object.create(null);
  for (let column = 0; column < columnCount(statement); column++) {
    const read = readers.get(columnType(statement, column));
    values[columnName(statement, column)] = read === undefined ? null : read(statement, column);
  }
  return values;
}

class Statement {
  constructor(db, sql) {
    this.db = db;
    this.sql = adapted(sql);
  }

  all(...given) {
    const out = [null];
    this.db.check(prepare(this.db.handle, this.sql, -1, out, null));
    const [statement] = out;
    try {
      bindAll(statement, given);
      const rows = [];
      for (;;) {
        const code = step(statement);
        if (code === done) return rows;
        if (code !== row) this.db.check(code);
        rows.push(readRow(statement));
      }
    } finally {
      finalize(statement);
    }
  }

  get(...given) {
    return this.all(...given)[0];
  }

  run(...given) {
    this.all(...given);
    return { changes: changes(this.db.handle), lastInsertRowid: 0 };
  }

  setAllowUnknownNamedParameters() {}

  setReadBigInts() {}
}

class DatabaseSync {
  constructor(path, { timeout = 0 } = {}) {
    const out = [null];
    const code = open(path, out, readWriteCreate, null);
    [this.handle] = out;
    if (code !== 0) {
      const error = this.error(code);
      this.close();
      throw error;
    }
    busyTimeout(this.handle, timeout);
  }

  get isOpen() {
    return this.handle !== null;
  }

  error(code) {
    const { handle } = this;
    return Object.assign(new Error(errorMessage(handle)), {
      code: 'ERR_SQLITE_ERROR',
      errcode: extendedCode(handle) || code,
    });
  }

  check(code) {
    if (code !== 0) throw this.error(code);
  }

  exec(sql) {
    this.check(execute(this.handle, adapted(sql), null, null, null));
  }

  prepare(sql) {
    return new Statement(this, sql);
  }

  close() {
    close(this.handle);
    this.handle = null;
  }
}

module.exports = { DatabaseSync };
