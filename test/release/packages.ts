// Packages for the tests: of this build, and of a next version with a migration.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXECUTABLE } from '../e2e/executable.ts'

const ROOT = join(import.meta.dirname, '../..')
const OWN = arch() === 'arm64' ? 'arm64' : 'x64'
const EPOCH = 1_800_000_000

type DebParts = {
  version: string
  epoch: number
  arch: string
  executable: string
  licenses: string
  dist: string
}

/** Returns the package of this machine kind: of `npm run release`, else a new one of the executable. */
export async function ownPackage(): Promise<string> {
  return await findPackage(OWN, EXECUTABLE)
}

/** Returns the package of the other machine kind; undefined: `npm run test:release` names no executable of it. */
export async function foreignPackage(): Promise<string | undefined> {
  const { CAMBISTA_FOREIGN_EXECUTABLE: executable, CAMBISTA_FOREIGN_ARCH: kind } = process.env
  return executable && kind ? await findPackage(kind, executable) : undefined
}

export function ownVersion(root = ROOT): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
}

export type NextBuild = { version: string; executable: string; package: string }

/** Builds the next version: HEAD with another version, and a migration that makes a table. */
export async function buildNext(): Promise<NextBuild> {
  const folder = temporaryFolder()
  const clone = join(folder, 'clone')
  run('git', ['clone', '--quiet', ROOT, clone])
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const [major, minor, patch] = ownVersion().split('.').map(Number)
  const version = `${major}.${minor}.${(patch ?? 0) + 1}`
  edit(join(clone, 'package.json'), `"version": "${ownVersion()}"`, `"version": "${version}"`)
  const table = 'CREATE TABLE made_up (id INTEGER NOT NULL PRIMARY KEY) STRICT;'
  const end = ']\n\nexport const SCHEMA_VERSION'
  edit(join(clone, 'src/store/migrations.ts'), end, `  { sql: '${table}' },\n${end}`)
  const schema = join(clone, 'schema.sql')
  writeFileSync(schema, `${readFileSync(schema, 'utf8')}\n${table}\n`)
  run(process.execPath, ['build.mjs', '--only', OWN], clone)
  const executable = join(clone, 'dist/cambista')
  return { version, executable, package: await make(clone, { version, arch: OWN, executable, dist: folder }) }
}

/** Builds the program of a commit. `CAMBISTA_FORMER` names an executable instead. */
export function buildCommit(commit: string): string {
  const { CAMBISTA_FORMER } = process.env
  if (CAMBISTA_FORMER) return CAMBISTA_FORMER
  const clone = join(temporaryFolder(), 'clone')
  run('git', ['clone', '--quiet', ROOT, clone])
  run('git', ['checkout', '--quiet', commit], clone)
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], clone)
  run(join(clone, 'node_modules/.bin/node'), ['build.mjs', '--only', OWN], clone)
  return join(clone, 'dist/cambista')
}

async function findPackage(kind: string, executable: string): Promise<string> {
  const version = ownVersion()
  const name = `cambista_${version}_${kind === 'x64' ? 'amd64' : kind}.deb`
  const { CAMBISTA_RELEASE } = process.env
  if (CAMBISTA_RELEASE && existsSync(join(CAMBISTA_RELEASE, name))) return join(CAMBISTA_RELEASE, name)
  return await make(ROOT, { version, arch: kind, executable, dist: temporaryFolder() })
}

/** Calls `makeDeb` of a checkout. */
async function make(checkout: string, parts: Omit<DebParts, 'epoch' | 'licenses'>): Promise<string> {
  const { makeDeb }: { makeDeb(parts: DebParts): Promise<string> } = await import(
    join(checkout, 'src/packaging/deb.mjs')
  )
  const name = await makeDeb({ ...parts, epoch: EPOCH, licenses: 'licences of other packages\n' })
  return join(parts.dist, name)
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${path} has no ${from}`)
  writeFileSync(path, text.replace(from, to))
}

function run(command: string, words: readonly string[], cwd = ROOT): void {
  const PATH = `${join(cwd, 'node_modules/.bin')}:${process.env.PATH}`
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  })
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${status}: ${stdout}${stderr}`)
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cambista-deb-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
