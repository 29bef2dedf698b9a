import { loadPackage } from '../../lib/optional-package.ts';
import { MCP_SDK } from './options.ts';

/** The parts of the MCP SDK that are used, which is not installed with HEAMS. */
export async function loadSdk() {
  const [client, http, stdio, types] = await loadPackage(MCP_SDK, () =>
    Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/shared/stdio.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]),
  );
  return {
    Client: client.Client,
    StreamableHTTPClientTransport: http.StreamableHTTPClientTransport,
    StreamableHTTPError: http.StreamableHTTPError,
    deserializeMessage: stdio.deserializeMessage,
    CallToolResultSchema: types.CallToolResultSchema,
    ListToolsResultSchema: types.ListToolsResultSchema,
    McpError: types.McpError,
  };
}
export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
