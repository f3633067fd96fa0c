class Codefleet < Formula
  desc "{{description}}"
  homepage "{{repository}}"
  version "{{version}}"
  license any_of: ["MIT", "Apache-2.0"]

{{sources}}

  depends_on "git"

  def install
    prefix.install "bin", "share"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/fleet --version")
    system bin/"fleet", "demo"
  end
end
