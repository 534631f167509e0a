// Starts the unit. If it fails, the error includes the reason from the journal, since systemd reports only the failure.
// An administrator who installs at night need not search for it.

import { AppError } from '../../runtime/errors.ts'
import type { Machine } from '../host.ts'
import { SETTINGS_FILE } from '../parse/settings.ts'

const LINES = 200

/** Restarts the unit. @throws AppError `failed` with the program's own error, or else systemd's */
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

/** Returns the last error line of the program since an instant (Unix seconds). */
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
  // The healthcheck that waits for the start logs an error too, without the reason.
  const errors = [...text.matchAll(/^cambista: (.+)$/gm)].map(([, line = '']) => line)
  return errors.findLast((line) => !/^the server has ended before|readyz/.test(line))
}
