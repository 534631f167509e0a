// Prints a page as PDF, and reads it.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { Page, PDFOptions } from 'puppeteer-core'
import { temporaryDirectory } from '../support/temporary.ts'

const run = promisify(execFile)

/** Text of the printed page, as it is laid out. */
export async function printedText(t: TestContext, page: Page, options: PDFOptions = {}): Promise<string> {
  return (await run('pdftotext', ['-layout', await printPage(t, page, options), '-'])).stdout
}

/** Prints the page. @returns path of the PDF */
export async function printPage(t: TestContext, page: Page, options: PDFOptions = {}): Promise<string> {
  const file = join(temporaryDirectory(t), 'page.pdf')
  writeFileSync(file, await page.pdf({ format: 'A4', printBackground: true, ...options }))
  return file
}
