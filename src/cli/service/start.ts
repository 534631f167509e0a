// Starting the unit, and why it does not start. systemd says only that it failed, and the reason stands in the journal:
// an administrator who installs a service at night shall not have to look for it.

import { AppError } from '../../errors.ts'
import type { Machine } from '../host.ts'
import { SETTINGS_FILE } from '../settings.ts'

const LINES = 200

/** @throws AppError `failed` with the reason that the program gave, or else what systemd says */
export function restartUnit(machine: Machine, unit: string): void {
  const since = Math.floor(Date.now() / 1000)
  const { status, text } = machine.run('systemctl', ['restart', unit])
  if (status === 0) return
  const reason = reasonInJournal(machine, unit, since)
  if (reason !== undefined) {
    const advice = `settings are in ${SETTINGS_FILE} (--port is CAMBISTA_PORT); then systemctl restart cambista`
    throw new AppError('failed', `${unit} does not start: ${reason}; ${advice}`)
  }
  const why = status === undefined ? 'there is no such command' : text || `exit code ${status}`
  throw new AppError('failed', `systemctl restart ${unit} failed: ${why}`)
}

/** The last thing that the program said before it ended, since an instant in seconds. */
function reasonInJournal(machine: Machine, unit: string, since: number): string | undefined {
  const words = [
    `--unit=${unit}`,
    `--since=@${since}`,
    '--output=cat',
    `--lines=${LINES}`,
    '--quiet',
    '--no-pager',
  ]
  const { status, text } = machine.run('journalctl', words)
  if (status !== 0) return undefined
  // The check that waits for the start says so too, and knows less.
  const said = [...text.matchAll(/^cambista: (.+)$/gm)].map(([, line = '']) => line)
  return said.findLast((line) => !/^the server has ended before|readyz/.test(line))
}
