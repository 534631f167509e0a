// The real file system with a record of the calls in order; a test can make each of them fail.

import * as nodeFs from 'node:fs/promises'
import type { BlobFs } from '../../src/store/blobs/folder.ts'

export type FaultyFs = {
  fs: BlobFs
  /** `<function> <path relative to the root>`, with `*` for the name of a temporary file. */
  calls: string[]
  /** Makes a call fail when it returns an error code such as EIO. */
  faults: (call: string, index: number) => Promise<string | undefined> | string | undefined
  /** Most bytes that one write accepts. */
  maxWrite: number
  /** Every write waits for this promise. */
  gate: Promise<void>
}

export function createFaultyFs(root: string): FaultyFs {
  const injectFault = async (name: string, path: string) => {
    const relativePath = path.replace(root, '').replace(/\/[\w-]{36,}$/, '/*')
    const call = `${name} ${relativePath === '' ? '/' : relativePath}`
    const code = await faulty.faults(call, faulty.calls.push(call) - 1)
    if (code !== undefined) throw Object.assign(new Error(`${code}: injected`), { code })
  }

  const wrapFile = (file: nodeFs.FileHandle, path: string): nodeFs.FileHandle => {
    const write = async (bytes: Buffer, at: number, length: number) => {
      await faulty.gate
      await injectFault('write', path)
      return file.write(bytes, at, Math.min(length, faulty.maxWrite))
    }
    const sync = async () => {
      await injectFault('sync', path)
      return file.sync()
    }
    const close = async () => {
      await file.close() // a close that fails releases the descriptor too
      await injectFault('close', path)
    }
    const overrides = new Map<PropertyKey, unknown>(Object.entries({ write: write, sync, close }))
    return new Proxy(file, {
      get(target, name) {
        const value: unknown = overrides.get(name) ?? Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  const withFault =
    <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await injectFault(name, String(args[0]))
      return call(...args)
    }

  const faulty: FaultyFs = {
    calls: [],
    faults: () => undefined,
    maxWrite: Number.POSITIVE_INFINITY,
    gate: Promise.resolve(),
    fs: {
      ...nodeFs,
      open: withFault('open', async (path, flags, mode) =>
        wrapFile(await nodeFs.open(path, flags, mode), String(path)),
      ),
      rename: withFault('rename', nodeFs.rename),
      unlink: withFault('unlink', nodeFs.unlink),
      mkdir: withFault('mkdir', nodeFs.mkdir as (...args: unknown[]) => Promise<never>),
    },
  }
  return faulty
}
