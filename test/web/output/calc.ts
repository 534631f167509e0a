// Opens files in LibreOffice Calc.

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { temporaryDirectory } from '../../support/temporary.ts'

const run = promisify(execFile)

const settings = (locale: string) => `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse">
<value>${locale}</value></prop></item></oor:items>`

/** Opens files in a locale, and saves each in another form. @returns their paths, in the same order */
export async function openInCalc(
  t: TestContext,
  form: 'fods' | 'pdf',
  files: readonly string[],
  locale = 'en-US',
): Promise<string[]> {
  const folder = temporaryDirectory(t)
  const user = join(folder, 'profile', 'user')
  mkdirSync(user, { recursive: true })
  writeFileSync(join(user, 'registrymodifications.xcu'), settings(locale))
  const filter = files.every((file) => extname(file) === '.html') ? ['--infilter=HTML (StarCalc)'] : []
  const words = ['--headless', ...filter, '--convert-to', form, '--outdir', folder, ...files]
  const env = { PATH: process.env.PATH, HOME: folder }
  await run('soffice', [`-env:UserInstallation=file://${folder}/profile`, ...words], { env })
  return files.map((file) => join(folder, basename(file).replace(/\.\w+$/, `.${form}`)))
}
