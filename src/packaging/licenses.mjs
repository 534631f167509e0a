// Licences of the packages that the executable has code of, which are handed on with it as THIRD-PARTY-LICENSES.
// A package without a licence file must name its author and a licence of the folder `licenses/` in its package.json.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const STANDARD_TEXTS = join(import.meta.dirname, 'licenses')

/** Returns the folders of the packages among the inputs of bundles, such as `node_modules/@aws-sdk/core`. */
export function packageFolders(inputs) {
  const folders = inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
  return [...new Set(folders.filter(Boolean))].sort()
}

/** Returns the text of THIRD-PARTY-LICENSES: Node, the packages in these folders, and the reference below /docs. */
export function thirdPartyLicenses(folders) {
  const texts = [`node_modules/node-linux-${process.arch}`, ...folders].map((folder) => {
    const { name, version } = readPackage(folder)
    const title = `${name.replace(/^node-linux-.*/, 'Node.js')} ${version}`
    return `${title}\n${'='.repeat(title.length)}\n\n${licenseText(folder)}\n`
  })
  return [...texts, readFileSync(join(ROOT, 'src/web/reference-notices.txt'), 'utf8')].join('\n\n')
}

/** Returns the licence of a package: its file, else the standard text of the licence that package.json names. */
export function licenseText(folder) {
  const path = join(ROOT, folder)
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name))
  if (file) return readFileSync(join(path, file), 'utf8').trim()
  const { license, author } = readPackage(folder)
  const authorName = typeof author === 'string' ? author : author?.name
  if (!license || !authorName) {
    throw new Error(`${folder} has no licence file, and package.json does not name a licence and an author`)
  }
  const standardText = join(STANDARD_TEXTS, `${basename(license)}.txt`)
  if (!existsSync(standardText)) {
    throw new Error(`${folder} has no licence file, and src/packaging/licenses has no text of ${license}`)
  }
  const notice = `Copyright ${authorName}. The package has no licence file; its package.json names ${license}:`
  return `${notice}\n\n${readFileSync(standardText, 'utf8').trim()}`
}

function readPackage(folder) {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
}
