import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asJournalErrors, createLog, type LogFormat, loggingFailures } from '../src/log.ts'

function written(format: LogFormat, journal: boolean): string[] {
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

test('a line is a time, a level, an event and its fields', () => {
  assert.deepEqual(written('text', false), [
    '2026-03-24T12:00:00.000Z debug one',
    '2026-03-24T12:00:00.000Z info  two a=1',
    '2026-03-24T12:00:00.000Z warn  three a="b\\nc"',
    '2026-03-24T12:00:00.000Z error four',
    '',
  ])
})

test('in the journal each line has a priority, and the time is that of the journal', () => {
  assert.deepEqual(written('text', true), [
    '<7>debug one',
    '<6>info  two a=1',
    '<4>warn  three a="b\\nc"',
    '<3>error four',
    '',
  ])
})

test('a JSON line is the same in the journal, behind its priority', () => {
  const plain = written('json', false)
  assert.deepEqual(JSON.parse(plain[1] ?? ''), {
    time: '2026-03-24T12:00:00.000Z',
    level: 'info',
    event: 'two',
    a: 1,
  })
  const priorities = ['<7>', '<6>', '<4>', '<3>', '']
  assert.deepEqual(
    written('json', true),
    plain.map((line, at) => priorities[at] + line),
  )
})

test('each line of a message gets the priority of an error', () => {
  assert.equal(asJournalErrors('cambista: one\n  two\n'), '<3>cambista: one\n<3>  two\n')
})

test('of work that is done again and again each reason of a failure is logged once', async () => {
  const reasons = ['away', 'away', 'read-only', undefined, 'read-only', 'read-only']
  const lines: unknown[] = []
  const log = { error: (event: string, fields: unknown) => lines.push([event, fields]) }
  const work = loggingFailures(log, 'not stored', async () => {
    const reason = reasons.shift()
    if (reason !== undefined) throw new Error(reason)
  })
  while (reasons.length > 0) await work()
  const said = ['away', 'read-only', 'read-only'].map((reason) => ['not stored', { reason }])
  assert.deepEqual(lines, said)
})
