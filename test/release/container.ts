// Runs the image as a container engine does, without one: a read-only root, a volume, namespaces. User and environment
// are those of the image's settings, and the server is process number 1. Needs root.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { directory, type How, type Running, run, start } from '../e2e/executable.ts'

type Descriptor = { digest: string; platform?: { architecture: string } }
export type ImageConfig = {
  architecture: string
  config: { User: string; Env: string[]; Entrypoint: string[]; Cmd: string[]; StopSignal: NodeJS.Signals }
}
export type UnpackedImage = { root: string; config: ImageConfig }

/** Unpacks the image of an architecture, as root of a container, with the folders that an engine mounts. */
export function unpackImage(t: TestContext, archive: string, architecture: string): UnpackedImage {
  const folder = directory(t)
  const [layout, root] = [join(folder, 'layout'), join(folder, 'root')]
  for (const path of [layout, root]) mkdirSync(path)
  tar('-xf', archive, '-C', layout)
  const blobFile = ({ digest }: Descriptor) => join(layout, 'blobs', digest.replace(':', '/'))
  const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const [index] = readJson(join(layout, 'index.json')).manifests
  const manifests: Descriptor[] = readJson(blobFile(index)).manifests
  const descriptor = manifests.find(({ platform }) => platform?.architecture === architecture)
  assert.ok(descriptor, `there is no image of ${architecture}`)
  const { config, layers } = readJson(blobFile(descriptor))
  for (const layer of layers) tar('-xzpf', blobFile(layer), '-C', root, '--same-owner', '--numeric-owner')
  for (const path of ['proc', 'dev']) mkdirSync(join(root, path))
  return { root, config: readJson(blobFile(config)) }
}

/** Makes a volume with owner and mode of the image's folder, as Docker does. `fsGroup`: as Kubernetes does. */
export function makeVolume(t: TestContext, { root }: UnpackedImage, { fsGroup }: { fsGroup?: number } = {}) {
  const volume = join(directory(t), 'volume')
  cpSync(join(root, 'data'), volume, { recursive: true })
  if (fsGroup === undefined) return copyOwner(join(root, 'data'), volume)
  chownSync(volume, 0, fsGroup)
  chmodSync(volume, 0o2775)
  return volume
}

export type Container = Running & {
  /** Runs a command of the program in the container. */
  exec(words: readonly string[]): ReturnType<typeof run>
  /** Number of the container's first process on this machine. */
  processId(): number
  /** Sends the signal that stops a container, and returns the seconds and the end. */
  stop(): Promise<{ seconds: number; code: number | string; err: string }>
}

/** Starts a container. `words` replace the command of the image; `emulator` runs executables of another kind. */
export function startContainer(
  t: TestContext,
  image: UnpackedImage,
  options: {
    volume: string
    words?: readonly string[]
    env?: Record<string, string>
    emulator?: string | undefined
    ownNetwork?: boolean
  },
): Container {
  const { root } = image
  const { User, Env, Entrypoint, Cmd, StopSignal } = image.config.config
  const { volume, words = Cmd, emulator, ownNetwork = false } = options
  const env = { ...Object.fromEntries(Env.map((line) => line.split('=', 2))), ...options.env }
  const [command = '', ...entrypoint] = [...(emulator ? ['/emulator'] : []), ...Entrypoint]
  const [user = '', group = ''] = User.split(':')
  if (emulator) cpSync(emulator, join(root, 'emulator'), { dereference: true })
  const script = `
    ${ownNetwork ? 'ip link set lo up' : ''}
    mount --bind "$1" "$1"
    mount --bind "$2" "$1/data"
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    mount -o remount,bind,ro "$1"
    root=$1 user=$3
    shift 3
    exec /usr/sbin/chroot --userspec="$user" --groups= "$root" "$@"`
  const network = ownNetwork ? ['--net'] : []
  const under = ['/usr/bin/unshare', '--mount', '--pid', ...network, '--fork', '--kill-child']
  const inner = ['/bin/sh', '-ec', script, 'sh', root, volume, User, command, ...entrypoint]
  const how: How = { env, under: [...under, ...inner.slice(0, -1)], executable: inner.at(-1) ?? '' }
  const running = start(t, words, how)
  const processId = () => {
    const { pid } = running.child
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  }
  return {
    ...running,
    processId,
    exec(words) {
      const namespaces = `--target=${processId()} --mount --pid --net --root`.split(' ')
      const credentials = [`--setuid=${user}`, `--setgid=${group}`]
      const enter = ['/usr/bin/nsenter', ...namespaces, ...credentials, command, ...entrypoint]
      return run(t, words, { env, under: enter.slice(0, -1), executable: enter.at(-1) ?? '' })
    },
    async stop() {
      const start = performance.now()
      process.kill(processId(), StopSignal)
      const { code, err } = await running.ended()
      return { seconds: (performance.now() - start) / 1000, code, err }
    },
  }
}

function copyOwner(from: string, to: string): string {
  const { status } = spawnSync('chown', ['--reference', from, to])
  assert.equal(status, 0)
  return to
}

function tar(...words: string[]): void {
  const { status, stderr } = spawnSync('tar', words, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}
