// A machine with the Debian package, alone and beside an installation by `service install`.

import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Machine } from '../../../../src/cli/host.ts'
import { installService, unitText } from '../../../../src/cli/service/install.ts'
import { findSecondInstallation, isPackageInstalled } from '../../../../src/cli/service/installations.ts'
import { uninstallService } from '../../../../src/cli/service/uninstall.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const PACKAGE = ['/usr/lib/systemd/system/cambista.service', '/usr/bin/cambista']
const UNIT = '/etc/systemd/system/cambista.service'
const EXECUTABLE = '/usr/local/bin/cambista'

/** A root with these files. */
function makeRoot(t: TestContext, ...paths: string[]): string {
  const root = temporaryDirectory(t)
  for (const path of paths) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), path === UNIT ? unitText() : path)
  }
  return root
}

test('`service install` and `service uninstall` refuse on a machine with the package, and change nothing', (t) => {
  const root = makeRoot(t, ...PACKAGE)
  const changes: string[] = []
  const machine: Machine = {
    root,
    live: true,
    run: (command) => ({ status: changes.push(command), text: '' }),
    print: (line) => changes.push(line),
  }
  const install = { code: 'failed', message: /^the package cambista owns the service: sudo apt install / }
  assert.throws(() => installService(machine, join(root, 'usr/bin/cambista')), install)
  const uninstall = {
    code: 'failed',
    message: /^the package cambista owns the service: sudo apt remove cambista/,
  }
  assert.throws(() => uninstallService(machine), uninstall)
  assert.deepEqual(changes, [])
})

test('findSecondInstallation finds a unit in /etc and an executable in /usr/local beside the package', (t) => {
  assert.deepEqual(findSecondInstallation(makeRoot(t, ...PACKAGE)), [])
  assert.deepEqual(findSecondInstallation(makeRoot(t, UNIT, EXECUTABLE)), [])
  const [unit = '', executable = '', ...more] = findSecondInstallation(
    makeRoot(t, ...PACKAGE, UNIT, EXECUTABLE),
  )
  assert.match(unit, /^\/etc\/systemd\/system\/cambista\.service hides .*: sudo dpkg-reconfigure cambista /)
  assert.match(executable, /^\/usr\/local\/bin\/cambista comes before \/usr\/bin\/cambista of the package: /)
  assert.deepEqual(more, [])
})

test('findSecondInstallation accepts a unit of the administrator', (t) => {
  const root = makeRoot(t, ...PACKAGE, UNIT)
  writeFileSync(join(root, UNIT), unitText('/usr/bin/cambista'))
  assert.deepEqual(findSecondInstallation(root), [])
})

test('findSecondInstallation accepts a masked unit, and a link to the executable of the package', (t) => {
  const root = makeRoot(t, ...PACKAGE)
  for (const path of [UNIT, EXECUTABLE]) mkdirSync(join(root, dirname(path)), { recursive: true })
  symlinkSync('/dev/null', join(root, UNIT))
  symlinkSync(join(root, '/usr/bin/cambista'), join(root, EXECUTABLE))
  assert.equal(isPackageInstalled(root), true)
  assert.deepEqual(findSecondInstallation(root), [])
})
