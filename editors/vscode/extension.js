// Starts `xtile lsp` for the kernels that are open.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("xtile").get("command");
  client = new LanguageClient(
    "xtile",
    { command, args: ["lsp"] },
    { documentSelector: [{ language: "tensorlang" }, { language: "mlir" }] },
  );
  return client.start();
};

exports.deactivate = () => client?.stop();
