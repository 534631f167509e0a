// Installations of cambista on a machine: by `service install` below /usr/local, and by the Debian package. With both,
// the unit in /etc hides the package's, and the older executable comes first in PATH.

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../runtime/errors.ts'
import { EXECUTABLE, PACKAGE_EXECUTABLE, PACKAGE_UNIT_FILE, UNIT_FILE } from './service-names.ts'

/** Returns true if the package of the system is installed, and so owns the service. */
export function isPackageInstalled(root: string): boolean {
  return existsSync(join(root, PACKAGE_UNIT_FILE))
}

/** @throws AppError `failed` on a machine with the package, with the command to use instead */
export function refuseOwnedByPackage(root: string, action: 'install' | 'uninstall' | 'upgrade'): void {
  if (!isPackageInstalled(root)) return
  const instead =
    action === 'uninstall'
      ? 'sudo apt remove cambista removes it and leaves the data'
      : 'sudo apt install ./FILE of a newer package upgrades it (backups: cambista manual service)'
  throw new AppError('failed', `the package cambista owns the service: ${instead}`)
}

/** Returns a finding for each part of a second installation beside the package. */
export function findSecondInstallation(root = '/'): string[] {
  if (!isPackageInstalled(root)) return []
  const findings = []
  // A link to /dev/null masks the package's unit, and an administrator's own unit runs the package's executable.
  const unit = existsSync(join(root, UNIT_FILE)) ? readFileSync(join(root, UNIT_FILE), 'utf8') : ''
  if (unit.includes(`\nExecStart=${EXECUTABLE} serve`)) {
    findings.push(
      `${UNIT_FILE} hides ${PACKAGE_UNIT_FILE} of the package: sudo dpkg-reconfigure cambista takes it over`,
    )
  }
  if (isOtherFile(join(root, EXECUTABLE), join(root, PACKAGE_EXECUTABLE))) {
    findings.push(
      `${EXECUTABLE} comes before ${PACKAGE_EXECUTABLE} of the package: remove the former once no unit runs it`,
    )
  }
  return findings
}

function isOtherFile(path: string, other: string): boolean {
  return existsSync(path) && existsSync(other) && realpathSync(path) !== realpathSync(other)
}
