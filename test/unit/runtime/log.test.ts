import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog, journalErrors, type LogFormat, logFailures } from '../../../src/runtime/log.ts'

function logLines(format: LogFormat, journal: boolean): string[] {
  let text = ''
  const now = () => new Date('2026-03-24T12:00:00Z')
  const write = (more: string) => {
    text += more
  }
  const log = createLog({ level: 'debug', format, journal, write, now })
  log.debug('one')
  log.info('two', { a: 1 })
  log.warn('three', { a: 'b\nc' })
  log.error('four')
  log.flush()
  return text.split('\n')
}

test('createLog writes a time, a level, an event and its fields', () => {
  assert.deepEqual(logLines('text', false), [
    '2026-03-24T12:00:00.000Z debug one',
    '2026-03-24T12:00:00.000Z info  two a=1',
    '2026-03-24T12:00:00.000Z warn  three a="b\\nc"',
    '2026-03-24T12:00:00.000Z error four',
    '',
  ])
})

test('createLog writes a priority and no time for the journal', () => {
  assert.deepEqual(logLines('text', true), [
    '<7>debug one',
    '<6>info  two a=1',
    '<4>warn  three a="b\\nc"',
    '<3>error four',
    '',
  ])
})

test('createLog writes a priority before a JSON line for the journal', () => {
  const plain = logLines('json', false)
  assert.deepEqual(JSON.parse(plain[1] ?? ''), {
    time: '2026-03-24T12:00:00.000Z',
    level: 'info',
    event: 'two',
    a: 1,
  })
  const priorities = ['<7>', '<6>', '<4>', '<3>', '']
  assert.deepEqual(
    logLines('json', true),
    plain.map((line, at) => priorities[at] + line),
  )
})

test('journalErrors puts the priority of an error before each line', () => {
  assert.equal(journalErrors('cambista: one\n  two\n'), '<3>cambista: one\n<3>  two\n')
})

test('logFailures logs equal consecutive reasons once', async () => {
  const reasons = ['away', 'away', 'read-only', undefined, 'read-only', 'read-only']
  const lines: unknown[] = []
  const log = { error: (event: string, fields: unknown) => lines.push([event, fields]) }
  const work = logFailures(log, 'not stored', async () => {
    const reason = reasons.shift()
    if (reason !== undefined) throw new Error(reason)
  })
  while (reasons.length > 0) await work()
  const expected = ['away', 'read-only', 'read-only'].map((reason) => ['not stored', { reason }])
  assert.deepEqual(lines, expected)
})
