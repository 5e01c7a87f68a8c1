// A tile in JupyterLab's launcher that opens the tour, and the last view of a widget whose kernel is
// gone. This is all of the extension: what a bundler would make of it is what JupyterLab asks for,
// `init` with what it shares and `get` of the plugins.

(() => {
  const TOUR = "skill-eval-nb:tour";
  const ICON =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g stroke-width="2.4">' +
    '<path stroke="#808080" d="M4 4v16"/><path stroke="#0072b2" d="M8 8.5h13"/>' +
    '<path stroke="#e69f00" d="M5 15.5h10"/></g><circle cx="15" cy="8.5" r="3" fill="#0072b2"/>' +
    '<circle cx="9.5" cy="15.5" r="3" fill="#e69f00"/></svg>';
  let shared = {};

  async function taken(name) {
    const found = Object.values(shared[name] ?? {}).at(-1);
    return found && (await found.get())();
  }

  // Where the tour is, as Python says: it is copied beside the reader's own where it is not yet.
  async function found({ serviceManager }, cwd) {
    const { kernelspecs, sessions, contents } = serviceManager;
    const path = `${contents.localPath(cwd)}/${TOUR.replace(":", "-")}-${Date.now()}`;
    const kernel = { name: kernelspecs.specs?.default };
    const session = await sessions.startNew({ path, name: TOUR, type: "console", kernel });
    try {
      const { content } = await session.kernel.requestExecute({
        code: "from skill_eval_nb.share import tour_notebook",
        user_expressions: { at: "tour_notebook().as_posix()" },
        store_history: false,
      }).done;
      const { at } = content.user_expressions ?? {};
      if (at?.status === "ok") return at.data["text/plain"].slice(1, -1);
      throw new Error((at ?? content).evalue);
    } finally {
      await session.shutdown();
      session.dispose();
    }
  }

  async function tour() {
    const [launching, look, pages] = await Promise.all(
      ["launcher", "ui-components", "apputils"].map((name) => taken(`@jupyterlab/${name}`)),
    );
    const optional = launching ? [launching.ILauncher] : [];

    function activate(app, launcher) {
      app.commands.addCommand(TOUR, {
        label: "Skill evaluation tour",
        caption: "Does your agent skill really help? The notebooks, on bundled data or your own",
        icon: look && new look.LabIcon({ name: TOUR, svgstr: ICON }),
        execute: async ({ cwd = "" }) => {
          try {
            const path = [cwd, await found(app, cwd)].filter(Boolean).join("/");
            return await app.commands.execute("docmanager:open", { path });
          } catch (error) {
            return pages.showErrorMessage("The tour could not be opened", error);
          }
        },
      });
      launcher?.add({ command: TOUR, category: "Other", rank: 9 });
    }

    return { id: TOUR, autoStart: true, optional, activate };
  }

  // A saved widget has its last view beside it, as HTML; JupyterLab says that there is no model.
  const LOST = /model not found$/;
  const isLost = ({ target: node }) =>
    node.classList?.contains("jupyter-widgets") && LOST.test(node.textContent);

  async function bringBack({ widgets, rendermime }, node) {
    const area = widgets.find((cell) => cell.node.contains(node))?.outputArea;
    const at = area?.widgets.findIndex((output) => output.node.contains(node)) ?? -1;
    const model = at < 0 ? null : area.model.get(at);
    if (!String(model?.data["text/html"] ?? "").includes("sen-still")) return; // another's widget
    const last = rendermime.createRenderer("text/html");
    last.addClass("jp-OutputArea-output");
    await last.renderModel(model);
    area.widgets[at].widgets.find((one) => one.node === node)?.dispose();
    area.widgets[at].addWidget(last);
  }

  async function views() {
    const notebooks = await taken("@jupyterlab/notebook");

    function watch({ content }) {
      const seen = new MutationObserver((news) => {
        for (const one of news) if (isLost(one)) bringBack(content, one.target);
      });
      seen.observe(content.node, { childList: true, subtree: true });
      content.disposed.connect(() => seen.disconnect());
    }

    const optional = notebooks ? [notebooks.INotebookTracker] : [];
    const activate = (_, tracker) => tracker?.widgetAdded.connect((__, panel) => watch(panel));
    return { id: "skill-eval-nb:views", autoStart: true, optional, activate };
  }

  (window._JUPYTERLAB ??= {})["skill-eval-nb"] = {
    init: (scope) => void (shared = scope),
    get: async () => {
      const plugins = await Promise.all([tour(), views()]);
      return () => plugins;
    },
  };
})();
