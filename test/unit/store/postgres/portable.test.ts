// SQL for PostgreSQL is portable to compatible engines, and works through a pooler.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LEFT_OUT, LONG_ALONE } from '../../../support/postgres/suites.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const COMMENTS = /^\s*(\/\/|--|\*|\/\*).*$/gm

const NOT_ALIKE: Record<string, RegExp> = {
  'an advisory lock': /\bpg_(try_)?advisory/i,
  'a message to other sessions': /`\s*(listen|notify|unlisten)\s|\bpg_notify\b/i,
  'an id of SERIAL': /\b(big|small)?serial\b/i,
  'a system column': /\b(xmin|xmax|ctid|txid_\w+|pg_current_xact_id)\b/i,
  'a temporary or unlogged table': /\b(temp|temporary|unlogged) table\b/i,
  'a trigger, a function, a type':
    /\bcreate (or replace )?(trigger|function|procedure|type|domain|extension)\b/i,
  'a constraint that waits for the commit': /\bdeferrable\b/i,
  'a column of decimals': /\b(numeric|decimal)\s*[(,]/i,
  'the time at which a transaction began': /(?<![.\w])now\(\)|\b(current_timestamp|transaction_timestamp)\b/i,
  'a cursor': /\bdeclare \w+ cursor\b/i,
  COPY: /`\s*copy \w/i,
}

test('SQL of the store has no feature that compatible engines lack', () => {
  const files = ['schema.sql', ...globSync('src/store/**/*.{ts,sql}', { cwd: ROOT })]
  const texts = files
    .filter((path) => !path.startsWith('src/store/sqlite/'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8').replaceAll(COMMENTS, '') }))
  assert.ok(texts.some(({ path }) => path.startsWith('src/store/postgres/')))
  const offences = Object.entries(NOT_ALIKE).flatMap(([what, says]) =>
    texts.filter(({ text }) => says.test(text)).map(({ path }) => `${path} has ${what}`),
  )
  assert.deepEqual(offences, [])
})

test('each forbidden feature is found', () => {
  const statements = [
    'select pg_try_advisory_lock(1)',
    '`listen changes`',
    'id bigserial primary key',
    'select xmin from meta',
    'create temporary table t (a text)',
    'create or replace function f() returns text',
    'unique (a) deferrable',
    'value numeric(12, 4)',
    'where expires_at < now()',
    'declare rows cursor for select 1',
    '`copy rates from stdin`',
  ]
  const kinds = Object.entries(NOT_ALIKE)
  assert.equal(statements.length, kinds.length)
  for (const [at, [what, says]] of kinds.entries()) assert.match(statements[at] ?? '', says, what)
})

test('test files that are left out on PostgreSQL exist', () => {
  for (const name of Object.keys({ ...LEFT_OUT, ...LONG_ALONE }))
    assert.ok(existsSync(join(ROOT, 'test', name)), name)
})
