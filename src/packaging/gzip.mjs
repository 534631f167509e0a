import { spawnSync } from 'node:child_process'

/** Compresses by the system's gzip. The bytes of Node's zlib depend on the processor. `level`: 1 to 9. */
export function gzip(content, level = 9) {
  const { status, stdout, error } = spawnSync('gzip', ['-n', `-${level}`], { input: content, maxBuffer: 1e9 })
  if (status !== 0) throw new Error(`gzip failed: ${error?.message ?? status}`)
  return stdout
}
