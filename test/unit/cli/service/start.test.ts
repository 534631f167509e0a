// `restartUnit`: the error of a service that does not start has the reason from the journal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommandResult, Machine } from '../../../../src/cli/host.ts'
import { restartUnit } from '../../../../src/cli/service/start.ts'

const UNIT = 'cambista.service'
const RESTART_FAILED = {
  status: 1,
  text: 'Job for cambista.service failed. See "journalctl -xeu cambista.service".',
}

function machine(systemctl: CommandResult, journal: CommandResult) {
  const commands: string[] = []
  const place: Machine = {
    root: '/',
    live: true,
    run(command, words) {
      commands.push([command, ...words].join(' '))
      return command === 'journalctl' ? journal : systemctl
    },
    print: () => {},
  }
  return { place, commands }
}

test('restartUnit reports a port in use, with the setting of --port', () => {
  const text = `info  database opened
cambista: cannot listen on 127.0.0.1:8080: the port is in use: choose another with --port
cambista: the server has ended before it was ready (process 4711)`
  const { place, commands } = machine(RESTART_FAILED, { status: 0, text })
  assert.throws(() => restartUnit(place, UNIT), {
    code: 'failed',
    message:
      'cambista.service does not start: cannot listen on 127.0.0.1:8080: the port is in use: choose another with --port; ' +
      'settings are in /etc/cambista/cambista.env (--port is CAMBISTA_PORT); then systemctl restart cambista',
  })
  assert.match(commands[1] ?? '', /^journalctl --unit=cambista\.service --since=@\d{10} --output=cat /)
})

test('restartUnit reports a mistyped setting', () => {
  const text = 'cambista: CAMBISTA_PROT is no setting: did you mean CAMBISTA_PORT?\nTry cambista --help'
  const { place } = machine(RESTART_FAILED, { status: 0, text })
  assert.throws(() => restartUnit(place, UNIT), /does not start: CAMBISTA_PROT is no setting: did you mean/)
})

test('restartUnit without a reason in the journal reports the message of systemctl', () => {
  for (const journal of [
    { status: 0, text: '' },
    { status: 0, text: 'cambista: http://127.0.0.1:8080/readyz cannot be reached: connect ECONNREFUSED' },
    { status: 1, text: 'No journal files were found.' },
    { status: undefined, text: '' },
  ]) {
    const { place } = machine(RESTART_FAILED, journal)
    assert.throws(
      () => restartUnit(place, UNIT),
      /systemctl restart cambista\.service failed: Job for .* See/,
    )
  }
  assert.throws(
    () => restartUnit(machine({ status: undefined, text: '' }, RESTART_FAILED).place, UNIT),
    /no such command/,
  )
})

test('restartUnit does not query the journal after a start', () => {
  const { place, commands } = machine({ status: 0, text: '' }, RESTART_FAILED)
  restartUnit(place, UNIT)
  assert.deepEqual(commands, ['systemctl restart cambista.service'])
})
