import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../src/runtime/errors.ts'
import {
  connectionSettings,
  isOptionsRefusal,
  runsAlone,
  startupOptions,
  transactionSettings,
  wrongSettings,
} from '../../../../src/store/postgres/connection-settings.ts'

test('`startupOptions` and `transactionSettings` have the same settings, and those of the address', () => {
  const settings = connectionSettings(5500)
  assert.equal(
    startupOptions(settings, '-c search_path=a,b'),
    '-c synchronous_commit=on -c statement_timeout=5000 -c lock_timeout=3000 -c idle_in_transaction_session_timeout=5000 -c TimeZone=UTC -c search_path=a,b',
  )
  assert.equal(
    transactionSettings(settings),
    "set local synchronous_commit = 'on'; set local statement_timeout = '5000'; set local lock_timeout = '3000'; set local idle_in_transaction_session_timeout = '5000'; set local TimeZone = 'UTC'",
  )
})

test('`transactionSettings` reads each form of an option, and quotes its value', () => {
  const set = (options: string) => transactionSettings({}, options)
  const expected = "select set_config('search_path', 'a,b', true)"
  for (const form of ['-c search_path=a,b', '-csearch_path=a,b', '--search_path=a,b', '--search-path=a,b ']) {
    assert.equal(set(form), expected, form)
  }
  assert.equal(
    set("-c work_mem=8MB -c app.note=it's\\ fine"),
    "select set_config('work_mem', '8MB', true); select set_config('app.note', 'it''s fine', true)",
  )
  for (const wrong of ['-B 5', '-c search_path', '-c default_transaction_isolation=serializable']) {
    assert.throws(
      () => set(wrong),
      (error) => error instanceof AppError && /alter role … set them/.test(error.message),
      wrong,
    )
  }
})

test('`wrongSettings` compares durations in any unit, and skips settings that a server does not have', () => {
  const settings = connectionSettings(60_000)
  const row = {
    synchronous_commit: 'on',
    statement_timeout: '59500ms',
    lock_timeout: '3s',
    idle_in_transaction_session_timeout: null,
    TimeZone: 'utc',
  }
  assert.deepEqual(wrongSettings(settings, row), [])
  assert.deepEqual(wrongSettings(connectionSettings(3_600_500), { statement_timeout: '1h' }), [])
  assert.deepEqual(
    wrongSettings(settings, { ...row, statement_timeout: '0', synchronous_commit: 'off', TimeZone: 'CET' }),
    [
      'synchronous_commit is off and not on',
      'statement_timeout is 0 and not 59500',
      'TimeZone is CET and not UTC',
    ],
  )
})

test('`isOptionsRefusal` knows the refusals of poolers', () => {
  for (const message of [
    'unsupported startup parameter: options', // PgBouncer 1.18
    'unsupported startup parameter in options: synchronous_commit', // PgBouncer 1.24
    "Feature not supported: RDS Proxy currently doesn't support command-line options.",
  ]) {
    assert.equal(isOptionsRefusal(new Error(message)), true, message)
  }
  assert.equal(isOptionsRefusal(new Error('database "options" does not exist')), false)
})

test('`runsAlone` finds statements that no transaction block accepts', () => {
  assert.equal(runsAlone('CREATE INDEX CONCURRENTLY IF NOT EXISTS a ON b (c)'), true)
  assert.equal(runsAlone('create unique index concurrently a on b (c)'), true)
  assert.equal(runsAlone('create index if not exists a on b (c)'), false)
})
