// Machine kinds of the executable, and the tools of this machine that strip and run each of them.
// Names the Debian packages that are missing; installs nothing.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Node's names of the machine kinds, with those of GNU and of Debian. */
export const MACHINES = {
  x64: { gnu: 'x86_64', debian: 'amd64' },
  arm64: { gnu: 'aarch64', debian: 'arm64' },
}
/** Libraries that Node is linked with, by the Debian packages that have them for a foreign machine kind. */
const LIBRARIES = { libc6: 'libc.so.6', 'libstdc++6': 'libstdc++.so.6', libatomic1: 'libatomic.so.1' }

/** Returns the Debian packages that a build for these machine kinds lacks here. */
export function missingPackages(archs, { archives }) {
  const packages = archs.flatMap((arch) => [...missingToStrip(arch), ...missingToRun(arch)])
  if (archives && !works('xz')) packages.push('xz-utils')
  return [...new Set(packages)]
}

/** Returns the command that strips executables of a machine kind; undefined: there is none here. */
export function stripCommand(arch) {
  const own = arch === process.arch ? 'strip' : `${MACHINES[arch].gnu}-linux-gnu-strip`
  return [own, 'llvm-strip'].find(works)
}

/** Returns the words before an executable that make this machine run it; undefined: this machine cannot. */
export function runnerWords(arch) {
  if (arch === process.arch) return []
  return missingToRun(arch).length > 0 ? undefined : [emulator(arch), '-L', libraryRoot(arch)]
}

function missingToStrip(arch) {
  if (stripCommand(arch)) return []
  return [arch === process.arch ? 'binutils' : `binutils-${MACHINES[arch].gnu.replace('_', '-')}-linux-gnu`]
}

function missingToRun(arch) {
  if (arch === process.arch) return []
  const libraries = Object.entries(LIBRARIES).filter(
    ([, file]) => !existsSync(join(libraryRoot(arch), 'lib', file)),
  )
  const packages = libraries.map(([name]) => `${name}-${MACHINES[arch].debian}-cross`)
  return emulator(arch) ? packages : ['qemu-user-static', ...packages]
}

function emulator(arch) {
  return [`qemu-${MACHINES[arch].gnu}-static`, `qemu-${MACHINES[arch].gnu}`].find(works)
}

function libraryRoot(arch) {
  return `/usr/${MACHINES[arch].gnu}-linux-gnu`
}

function works(command) {
  return spawnSync(command, ['--version']).status === 0
}
