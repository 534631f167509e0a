// The script of the reference, as Scalar's makers build it: their package for Fastify carries it, with a tenth of the
// dependencies of the one that it is built from.

import reference from '@scalar/fastify-api-reference'
import fastify from 'fastify'

/** The bytes of the script, which makes `window.Scalar`. */
export async function referenceScript() {
  const server = fastify()
  await server.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, rawPayload } = await server.inject('/docs/js/scalar.js')
  await server.close()
  if (statusCode !== 200)
    throw new Error(`@scalar/fastify-api-reference answers ${statusCode} for its script`)
  return rawPayload
}
