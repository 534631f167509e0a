// Bundler of the page, as main.ts passes it to a server.

import { join } from 'node:path'
import { ROUTES } from '../../src/http/routes.ts'

const BUNDLER = join(import.meta.dirname, '../../src/web/bundle.mjs')

type Bundler = {
  bundlePage(folder: string, routes: typeof ROUTES): Promise<string[]>
  bundledPage(routes: typeof ROUTES): Promise<string>
}

/** Bundles the page unless its bundle exists, and returns its folder. */
export async function bundlePage(): Promise<string> {
  const { bundledPage }: Bundler = await import(BUNDLER)
  return bundledPage(ROUTES)
}

/** Bundles the page into a folder, and returns the paths of its sources. */
export async function writeBundle(folder: string): Promise<string[]> {
  const bundler: Bundler = await import(BUNDLER)
  return bundler.bundlePage(folder, ROUTES)
}
