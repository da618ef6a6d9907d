# Spack: into a repository's packages/foretime/package.py.
from spack.package import *


class Foretime(Package):
    """Five tools that predict how long work will take, and where it should run."""

    homepage = "https://{{.Repository}}"
    url = "https://{{.Repository}}/releases/download/v{{.Version}}/{{.Source.Name}}"
    maintainers("foretime")
    license("Apache-2.0")

    version("{{.Version}}", sha256="{{.Source.Sum}}")

    depends_on("c", type="build")
    depends_on("go@{{.Go}}:", type="build")
    variant("libraries", default=True, description="Build libchamtool.so and edgeprof-ort, which need a C compiler")

    def setup_build_environment(self, env):
        env.set("GOCACHE", join_path(self.stage.path, "cache"))
        env.set("GOMODCACHE", join_path(self.stage.path, "modules"))
        env.set("GOFLAGS", "-trimpath -modcacherw")

    def install(self, spec, prefix):
        mkdirp(prefix.bin, join_path(prefix.lib, "foretime"))
        flags = "-s -w -X {{.Prefix}}shared/cli.release=v{{.Version}}"
        go = which("go", required=True)
        for tool in ({{.Tools}}):
            with working_dir(tool):
                go("build", "-ldflags", flags, "-o", join_path(prefix.bin, tool), "./cmd/" + tool, extra_env={"CGO_ENABLED": "0"})
        if spec.satisfies("+libraries"):
            with working_dir("chamtool"):
                library = join_path(prefix.lib, "foretime", "libchamtool.so")
                go("build", "-ldflags", flags, "-buildmode=c-shared", "-o", library, "./cmd/libchamtool")
            with working_dir("edgeprof"):
                go("build", "-ldflags", flags, "-o", join_path(prefix.bin, "edgeprof-ort"), "./cmd/edgeprof-ort")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_versions(self):
        for tool in ({{.Tools}}):
            Executable(join_path(self.prefix.bin, tool))("--version")
