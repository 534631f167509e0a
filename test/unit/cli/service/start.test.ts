// A service that does not start: the reason is in the journal, and is told.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine, Ran } from '../../../src/cli/host.ts'
import { restartUnit } from '../../../src/cli/service/start.ts'

const UNIT = 'cambista.service'
const FAILED = { status: 1, text: 'Job for cambista.service failed. See "journalctl -xeu cambista.service".' }

function machine(systemctl: Ran, journal: Ran) {
  const ran: string[] = []
  const place: Machine = {
    root: '/',
    live: true,
    run(command, words) {
      ran.push([command, ...words].join(' '))
      return command === 'journalctl' ? journal : systemctl
    },
    say: () => {},
  }
  return { place, ran }
}

test('a port that is taken is told, with the setting of --port', () => {
  const text = `info  database opened
cambista: cannot listen on 127.0.0.1:8080: the port is in use: choose another with --port
cambista: the server has ended before it was ready (process 4711)`
  const { place, ran } = machine(FAILED, { status: 0, text })
  assert.throws(() => restartUnit(place, UNIT), {
    code: 'failed',
    message:
      'cambista.service does not start: cannot listen on 127.0.0.1:8080: the port is in use: choose another with --port; ' +
      'settings are in /etc/cambista/cambista.env (--port is CAMBISTA_PORT); then systemctl restart cambista',
  })
  assert.match(ran[1] ?? '', /^journalctl --unit=cambista\.service --since=@\d{10} --output=cat /)
})

test('a mistyped setting is told', () => {
  const text = 'cambista: CAMBISTA_PROT is no setting: did you mean CAMBISTA_PORT?\nTry cambista --help'
  const { place } = machine(FAILED, { status: 0, text })
  assert.throws(() => restartUnit(place, UNIT), /does not start: CAMBISTA_PROT is no setting: did you mean/)
})

test('without a reason in the journal, or a journal, it is what systemd says', () => {
  for (const journal of [
    { status: 0, text: '' },
    { status: 0, text: 'cambista: http://127.0.0.1:8080/readyz cannot be reached: connect ECONNREFUSED' },
    { status: 1, text: 'No journal files were found.' },
    { status: undefined, text: '' },
  ]) {
    const { place } = machine(FAILED, journal)
    assert.throws(
      () => restartUnit(place, UNIT),
      /systemctl restart cambista\.service failed: Job for .* See/,
    )
  }
  assert.throws(
    () => restartUnit(machine({ status: undefined, text: '' }, FAILED).place, UNIT),
    /no such command/,
  )
})

test('a unit that starts asks the journal nothing', () => {
  const { place, ran } = machine({ status: 0, text: '' }, FAILED)
  restartUnit(place, UNIT)
  assert.deepEqual(ran, ['systemctl restart cambista.service'])
})
