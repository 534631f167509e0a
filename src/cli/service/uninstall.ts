// Removes the service. Data, settings, user and programs stay.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Machine, runOrFail } from '../host.ts'
import { SETTINGS_FILE } from '../parse/settings.ts'
import { BACKUPS, readBackupDir, readDataDir } from './backup.ts'
import { WANTED } from './install.ts'
import { refuseOwnedByPackage } from './installations.ts'
import { lockPrograms } from './programs.ts'
import { DATA_DIR, EXECUTABLE, PREVIOUS, SETTINGS_DIR, UNIT, UNIT_FILE, USER } from './service-names.ts'
import { settleEarlier } from './upgrade.ts'

/**
 * Stops the service and removes its unit. Prints all that stays. Undoes an unconfirmed upgrade first, for without the unit
 * its probation would lock commands.
 * @throws AppError `failed`
 */
export function uninstallService(machine: Machine): void {
  const at = (path: string) => join(machine.root, path)
  refuseOwnedByPackage(machine.root, 'uninstall')
  if (!existsSync(at(UNIT_FILE))) machine.print(`nothing to do: there is no ${UNIT_FILE}`)
  else {
    using _lock = machine.live && existsSync(at(SETTINGS_DIR)) ? lockPrograms(machine) : null
    if (machine.live) {
      settleEarlier(machine)
      runOrFail(machine, 'systemctl', 'disable', '--now', UNIT)
      machine.print(`stopped and disabled ${UNIT}`)
    } else rmSync(at(WANTED), { force: true })
    rmSync(at(UNIT_FILE))
    if (machine.live) runOrFail(machine, 'systemctl', 'daemon-reload')
    machine.print(`removed ${UNIT_FILE}`)
  }
  const dataDir = readDataDir(machine, DATA_DIR)
  const remaining = [
    `${dataDir} (data)`,
    readBackupDir(machine) ?? BACKUPS,
    `${SETTINGS_DIR} (settings, token)`,
    EXECUTABLE,
    ...(existsSync(at(PREVIOUS)) ? [PREVIOUS] : []),
    `the user ${USER}`,
  ]
  machine.print(`kept ${remaining.join(', ')}`)
  machine.print(`commands still work on ${dataDir} as long as there is ${SETTINGS_FILE}`)
}
